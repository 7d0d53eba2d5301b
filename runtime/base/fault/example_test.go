package fault_test

import (
	"fmt"

	"github.com/postrider/postrider/runtime/base/fault"
)

// A validator collects every wrong field and returns one error for all of them.
func ExampleFields() {
	wrong := fault.Fields{}
	wrong.Add("to", "is required")
	wrong.Add("subject", "has %d characters; the limit is %d", 1200, 998)

	refused := fault.Classify(wrong.Err())
	fmt.Println(refused.Kind == fault.Invalid, refused.Code)
	fmt.Println(refused.Fields["subject"])
	// Output:
	// true validation_error
	// has 1200 characters; the limit is 998
}

// An edge checks the kind of an error and responds in its own words.
func ExampleKindOf() {
	err := fmt.Errorf("send: %w", fault.NoSuch("email", "msg_1"))
	fmt.Println(fault.KindOf(err) == fault.NotFound)
	// Output: true
}
