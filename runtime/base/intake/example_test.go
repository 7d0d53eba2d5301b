package intake_test

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
)

// No owner gets more than a quarter of a pool, and a full share does not delay other owners.
func ExamplePool() {
	pool := intake.NewPool(8)
	ada, bob := intake.Tenant{Account: "acc_ada"}, intake.Tenant{Account: "acc_bob"}
	for range 3 {
		_, err := pool.Take(context.Background(), ada, 1, time.Millisecond)
		fmt.Println("ada:", err)
	}
	release, err := pool.Take(context.Background(), bob, 1, time.Millisecond)
	fmt.Println("bob:", err)
	release()
	// Output:
	// ada: <nil>
	// ada: <nil>
	// ada: no room left in the budget
	// bob: <nil>
}
