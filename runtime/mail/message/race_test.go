//go:build race

package message_test

// scale divides the large messages: the race detector makes reading ten times slower, and smaller messages show
// as well whether the work is proportional.
const scale = 8
