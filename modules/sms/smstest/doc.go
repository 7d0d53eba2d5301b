// Package smstest has receivers of text messages for tests: Twilio, as its public description of the
// REST interface has it, over real HTTP.
package smstest
