"""The report: tables and plots of runs beside the paper's, as Markdown and as one HTML page."""
