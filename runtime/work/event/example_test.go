package event_test

import (
	"encoding/json"
	"fmt"

	"github.com/postrider/postrider/runtime/work/event"
)

// The catalog has a sample payload of every event type.
func ExampleLookup() {
	entry, known := event.Lookup(event.EmailDelivered)
	if !known {
		return
	}
	sample, err := json.Marshal(entry.Sample)
	fmt.Println(entry.Type, json.Valid(sample), err)
	// Output: email.delivered true <nil>
}
