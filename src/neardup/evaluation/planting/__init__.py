"""Edited copies of the own documents, planted in the collection: what of them is found?"""
