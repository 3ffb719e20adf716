"""`elmo explore`: a page in the browser about words in their sentences, served or in one file."""
