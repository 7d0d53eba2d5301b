// Package sms sends text messages to numbers, through providers.
package sms
