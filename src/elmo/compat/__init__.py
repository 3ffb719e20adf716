"""Old code runs: AllenNLP's, bilm-tf's and TF-Hub's names over this library. Nothing else imports them."""
