// Package expression compiles and evaluates the conditions of automations, which are written in CEL.
//
// An expression is bounded in length and depth when it is compiled, and in cost and time when it is
// evaluated. It sees only Names, and no function reaches a clock, a network or a file.
//
// In CEL, a missing field is an error. Callers treat an error as false and keep its text for the author.
package expression
