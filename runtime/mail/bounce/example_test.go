package bounce_test

import (
	"fmt"

	"github.com/postrider/postrider/runtime/mail/bounce"
)

// Classify returns the subject of a rejection.
func ExampleClassify() {
	fmt.Println(bounce.Classify(bounce.Reply{Code: 550, Enhanced: "5.1.1", Text: "No such user here"}))
	fmt.Println(bounce.Classify(bounce.Reply{Code: 452, Enhanced: "4.2.2", Text: "The mailbox is full"}))
	// Output:
	// bad_address
	// mailbox_full
}
