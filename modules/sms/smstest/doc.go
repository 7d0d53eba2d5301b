// Package smstest simulates an SMS provider for tests: Twilio, as described in its public API
// description, over real HTTP.
package smstest
