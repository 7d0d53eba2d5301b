// Package sms is the edge of text messages over REST: the settings of an account, and what became of
// its messages. Messages are sent by steps of automations; there is no operation that sends one.
package sms
