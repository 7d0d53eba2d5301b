package openapi

import (
	"encoding/json"
	"fmt"
)

// Example returns the JSON object that a record is written as, for the example of an operation.
func Example(record any) map[string]any {
	text, err := json.Marshal(record)
	if err != nil {
		panic(fmt.Sprintf("openapi: example: %v", err))
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		panic(fmt.Sprintf("openapi: example: %v", err))
	}
	return object
}
