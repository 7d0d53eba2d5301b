package message_test

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
)

// Read rejects nothing: it reports problems of a message in its Defects.
func ExampleRead() {
	m, err := message.Read(strings.NewReader("From: Ada <ada@example.com>\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\n\r\nHello.\r\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %q %d\n", m.Subject, m.Text, len(m.Files))
	// Output: Café "Hello.\r\n" 0
}
