// Package smstest is a fake SMS provider for tests. It implements Twilio's public API over real HTTP.
package smstest
