package body_test

import (
	"fmt"

	"github.com/postrider/postrider/rest/api/body"
)

// contact is the content of a request.
type contact struct {
	email string
	tags  []string
	score *int
}

func contactBody(in *contact) body.Object {
	return body.Object{Name: "AddContact", Fields: []body.Field{
		{Name: "email", Aliases: []string{"emailAddress"}, Type: body.Text(&in.email), Need: body.Required, About: "A bare address."},
		{Name: "tags", Type: body.List(&in.tags, body.Text), About: "Words to find it by."},
		{Name: "score", Type: body.Pointer(&in.score, body.Integer), About: "Left out: unknown."},
	}, Check: func(d *body.Decoder) {
		if in.score != nil && *in.score > 100 {
			d.Refuse("score", "must be at most 100")
		}
	}}
}

// A function declares the body, and connects each field with the variable that it sets.
func ExampleDecode() {
	for _, text := range []string{
		`{"emailAddress": "bob@example.net", "tags": ["new"], "score": 7}`,
		`{"score": 700}`,
	} {
		given, err := body.ParseObject([]byte(text))
		if err != nil {
			fmt.Println(err)
			continue
		}
		read, err := body.Decode(given, contactBody)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(read.email, read.tags, *read.score)
	}
	// Output:
	// bob@example.net [new] 7
	// Invalid fields: email, score (email: is required; score: must be at most 100)
}
