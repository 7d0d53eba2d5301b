// Package figures counts the outcomes of automation runs and of each of their steps.
//
// # What is counted
//
// Runs and steps are counted from the rows that retention has not deleted, in one statement for all requested
// automations, so that the figures of one response are consistent. The statement reads index ranges of these
// automations. Email figures cover the newest 10,000 emails of a step, and are counted by the modules that own
// emails and visits.
//
// A step is identified by its key, so a step that was moved, or that several versions have, has one total over
// all its positions. Figures of individual versions are available as well.
//
// # Freshness
//
// Results are cached for ten seconds. Concurrent callers share one count.
package figures
