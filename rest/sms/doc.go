// Package sms serves text messages over REST: the settings of an account, and the status of its messages.
// Messages are sent by steps of automations; there is no operation that sends one.
package sms
