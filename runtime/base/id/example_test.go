package id_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
)

// An id names its kind, and ids created later sort later.
func ExampleNew() {
	first := id.New(id.Email)
	fmt.Println(id.Is(id.Email, first), id.Is(id.Account, first))
	fmt.Println(strings.HasPrefix(first, "msg_"), time.Since(id.Time(first)) < time.Minute)
	// Output:
	// true false
	// true true
}
