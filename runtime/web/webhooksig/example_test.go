package webhooksig_test

import (
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// A receiver verifies the header with the unmodified body.
func ExampleVerify() {
	body := []byte(`{"type":"email.delivered"}`)
	now := time.Unix(1_760_000_000, 0)
	header := webhooksig.Sign([]string{"whsec_a"}, now, body)

	fmt.Println(webhooksig.Verify("whsec_a", header, body, now))
	fmt.Println(webhooksig.Verify("whsec_a", header, []byte(`{}`), now) != nil)
	// Output:
	// <nil>
	// true
}
