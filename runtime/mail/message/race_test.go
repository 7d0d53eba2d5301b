//go:build race

package message_test

// scale divides the large messages: the race detector makes reading ten times slower,
// and whether the work is proportional shows in smaller ones too.
const scale = 8
