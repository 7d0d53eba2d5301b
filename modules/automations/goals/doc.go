// Package goals converts runs: a run converts if its person has the event of the goal in time.
//
// A goal belongs to a version, and a run keeps the goal of the version that it follows. When a run starts, it
// stores until when the event converts it. An event that is the goal of a version is stored with a mark, and with
// the lock of its person, so that it is either before the start of a run or after the commit of it. Accepting an
// event does nothing else for goals.
//
// A task takes the marked events in the order of their ids. Conversions, their facts and the end of the mark share
// one transaction, so that a run converts exactly once, whenever a process dies. It skips runs that another
// transaction has locked, and the mark stays until no run is left that the event would convert.
//
// Runs that have ended or were cancelled convert too, because an automation often ends with its goal.
package goals
