// Package number judges telephone numbers: what may be written to, and in which country it is.
//
// A number has to be written as E.164 says, and to have a length that its country has. Whether it
// is given out is not asked: tables of numbers age, and a new one would be refused.
package number
