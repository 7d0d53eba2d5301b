// Command verify verifies a webhook delivery with the Go library of Standard Webhooks. It reads JSON with secret,
// headers and body from standard input, and fails if the library refuses the delivery.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	var delivery struct {
		Secret, Body string
		Headers      map[string]string
	}
	err := json.NewDecoder(os.Stdin).Decode(&delivery)
	if err == nil {
		header := http.Header{}
		for name, value := range delivery.Headers {
			header.Set(name, value)
		}
		var webhook *standardwebhooks.Webhook
		if webhook, err = standardwebhooks.NewWebhook(delivery.Secret); err == nil {
			err = webhook.Verify([]byte(delivery.Body), header)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
