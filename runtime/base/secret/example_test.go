package secret_test

import (
	"fmt"

	"github.com/postrider/postrider/runtime/base/secret"
)

// Every way of printing a String hides it.
func ExampleString() {
	key := secret.New("svc_very_secret")
	fmt.Println(key, fmt.Sprintf("%#v", key))
	fmt.Println(key.Reveal())
	// Output:
	// [redacted] [redacted]
	// svc_very_secret
}

// A sealed text opens only with the associated data that it was sealed with.
func ExampleBox() {
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		fmt.Println(err)
		return
	}
	sealed := box.Seal([]byte("the password"), []byte("smarthosts/1"))
	opened, err := box.Open(sealed, []byte("smarthosts/1"))
	fmt.Println(string(opened), err)
	_, err = box.Open(sealed, []byte("smarthosts/2"))
	fmt.Println(err != nil)
	// Output:
	// the password <nil>
	// true
}
