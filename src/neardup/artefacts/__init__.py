"""Artefacts: frozen data learned from a collection, such as idf tables, each with a digest."""
