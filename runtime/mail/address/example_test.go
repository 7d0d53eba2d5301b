package address_test

import (
	"fmt"

	"github.com/postrider/postrider/runtime/mail/address"
)

// Parse returns the parts of an address, or an error that can follow a field's name.
func ExampleParse() {
	a, err := address.Parse("Ada L. <ada@Example.com>")
	fmt.Println(a, err)
	_, err = address.Parse("ada")
	fmt.Println("to", err)
	// Output:
	// Ada L. <ada@example.com> <nil>
	// to has no @
}
