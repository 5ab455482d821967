"""Training material of the general model: texts of free packages, their real revisions, planted
copies and traps. Not part of the package; ``docs/general-model.md`` says what the material is."""
