package search

const MergeRows = mergeRows
