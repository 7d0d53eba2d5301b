// Package expression compiles and evaluates the conditions of automations, which are written in CEL.
//
// Compilation limits the length and depth of an expression; evaluation limits its cost and time. An expression
// sees only Names, and none of its functions can reach a clock, a network or a file.
//
// In CEL, a missing field is an error. Callers treat an error as false and keep its text for the author.
package expression
