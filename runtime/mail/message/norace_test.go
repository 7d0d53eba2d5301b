//go:build !race

package message_test

const scale = 1
