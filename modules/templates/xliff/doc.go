// Package xliff exports the texts of a template for translators, and imports their translations. The format is XLIFF
// 1.2, which translation tools read and write everywhere; many of them cannot read XLIFF 2.
//
// HTML is cut into units at the tags of blocks, so that a unit is a paragraph, a cell or an attribute such as alt.
// Inline tags are codes that a translation must contain, each once. Liquid is text, because plural forms are a part of
// it. A translation has the markup of the source.
package xliff
