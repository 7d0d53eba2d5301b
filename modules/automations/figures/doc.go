// Package figures counts the outcomes of automation runs and of each of their steps.
//
// # What is counted
//
// Runs and steps are counted from the rows that retention has left, by one statement for all
// automations that are asked for, so that the figures of one answer fit together. The statement
// reads index ranges of these automations. The figures of emails come from the newest 10,000 of
// a step: the modules that own emails and visits count them.
//
// A step is known by its key, so a step that moved, or that another version has too, has the
// figures of all its places together. Figures of one version are kept apart as well.
//
// # How fresh
//
// What was counted is given again for ten seconds. Who asks while others count waits for their
// result.
package figures
