// Package figures counts the outcomes of automation runs and of each of their steps.
//
// # What is counted
//
// Runs and steps are counted from the rows that retention has left, by one statement for all requested
// automations, so that the figures of one answer are consistent. The statement reads index ranges of
// these automations. The figures of emails cover the newest 10,000 of a step, and the modules that own
// emails and visits count them.
//
// A step is identified by its key, so a step that was moved, or that several versions have, has one total
// over all its positions. Figures of single versions are available as well.
//
// # Freshness
//
// Results are cached for ten seconds. Concurrent callers share one count.
package figures
