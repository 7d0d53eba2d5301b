// Command clients calls every operation through the client that oapi-codegen generates from the
// served document, and rejects responses with a field that the client's types lack.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"postrider.example/clients/postrider"
)

// call is one step of calls.json.
type call struct {
	Op     string
	Path   map[string]string
	Query  json.RawMessage
	Body   json.RawMessage
	Save   map[string]string
	Status []int
	Until  map[string]string
	Stream bool
	Person bool // with a session cookie, from a page of the installation
}

type program struct {
	client  *postrider.ClientWithResponses
	known   map[string]string
	params  map[string][]string // names of the path parameters of each operation, in order
	called  map[string]bool
	person  bool
	cookies map[string]*http.Cookie // by name, as a browser keeps them
}

func main() {
	log.SetFlags(0)
	base := os.Getenv("POSTRIDER_API_URL")
	p := &program{}
	client, err := postrider.NewClientWithResponses(base,
		postrider.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			if p.person {
				r.Header.Set("Origin", strings.TrimSuffix(base, "/api"))
				for _, cookie := range p.cookies {
					r.AddCookie(cookie)
				}
				return nil
			}
			r.Header.Set("Authorization", "Bearer "+os.Getenv("POSTRIDER_API_KEY"))
			return nil
		}))
	check(err)
	*p = program{client: client, params: map[string][]string{}, called: map[string]bool{},
		cookies: map[string]*http.Cookie{}, known: map[string]string{
			"link": os.Getenv("POSTRIDER_LINK"), "ownerEmail": os.Getenv("POSTRIDER_OWNER_EMAIL"), "ownerPassword": os.Getenv("POSTRIDER_OWNER_PASSWORD"),
			"receiver": os.Args[2], "run": fmt.Sprintf("go%d", time.Now().UnixMilli()),
			"hourAgo": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), "inAnHour": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		}}
	check(p.readDocument(base + "/openapi.json"))
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var steps []json.RawMessage
	check(json.Unmarshal(text, &steps))
	for _, step := range steps {
		check(p.run(step))
	}
	var left []string
	for op := range p.params {
		if !p.called[op] {
			left = append(left, op)
		}
	}
	if len(left) > 0 {
		log.Fatalf("operations that no call is made of: %s", strings.Join(left, ", "))
	}
	log.Printf("Go: %d operations called, every answer is what the document says", len(p.called))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// readDocument reads the operations from the document.
func (p *program) readDocument(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var document struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		return err
	}
	for path, methods := range document.Paths {
		for _, op := range methods {
			p.params[op.OperationID] = []string{}
			for _, found := range parameter.FindAllStringSubmatch(path, -1) {
				p.params[op.OperationID] = append(p.params[op.OperationID], found[1])
			}
		}
	}
	return nil
}

var variable = regexp.MustCompile(`\$[a-zA-Z]+`)

// run makes one call, and repeats it until the response is the one that the step waits for.
func (p *program) run(step []byte) error {
	step = variable.ReplaceAllFunc(step, func(name []byte) []byte { return []byte(p.known[string(name[1:])]) })
	var c call
	if err := json.Unmarshal(step, &c); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		answer, err := p.once(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Op, err)
		}
		if !arrived(answer, c.Until) {
			if time.Now().After(end) {
				return fmt.Errorf("%s: waited a minute for %v, got %v", c.Op, c.Until, answer)
			}
			continue
		}
		for name, path := range c.Save {
			value, is := at(answer, path).(string)
			if !is {
				return fmt.Errorf("%s: its answer has no %s: %v", c.Op, path, answer)
			}
			p.known[name] = value
		}
		p.called[c.Op] = true
		return nil
	}
}

func arrived(answer any, until map[string]string) bool {
	for path, want := range until {
		if got := at(answer, path); got == nil || want != "*" && got != want {
			return false
		}
	}
	return true
}

// at returns the value at a path of names and indexes.
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(inner) {
				return nil
			}
			v = inner[i]
		default:
			return nil
		}
	}
	return v
}

// once calls the client method that has the name of the operation. Its arguments are the path
// parameters, then the other parameters, then the body, in the types of the method.
func (p *program) once(c call) (any, error) {
	name := strings.ToUpper(c.Op[:1]) + c.Op[1:]
	if !c.Stream {
		name += "WithResponse"
	}
	var method reflect.Value
	if c.Stream {
		method = reflect.ValueOf(p.client.ClientInterface).MethodByName(name)
	} else {
		method = reflect.ValueOf(p.client).MethodByName(name)
	}
	if !method.IsValid() {
		return nil, fmt.Errorf("the client has no method %s", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	arguments, err := p.arguments(ctx, c, method.Type())
	if err != nil {
		return nil, err
	}
	p.person = c.Person
	results := method.Call(arguments)
	if err, failed := results[1].Interface().(error); failed {
		return nil, err
	}
	if c.Stream {
		return firstEvent(results[0].Interface().(*http.Response))
	}
	for _, given := range results[0].Elem().FieldByName("HTTPResponse").Interface().(*http.Response).Cookies() {
		p.cookies[given.Name] = given
	}
	return c.decode(results[0].Elem())
}

func (p *program) arguments(ctx context.Context, c call, of reflect.Type) ([]reflect.Value, error) {
	arguments := []reflect.Value{reflect.ValueOf(ctx)}
	for _, name := range p.params[c.Op] {
		argument := reflect.New(of.In(len(arguments))).Elem()
		if argument.Kind() == reflect.String {
			argument.SetString(c.Path[name])
		} else if err := json.Unmarshal([]byte(c.Path[name]), argument.Addr().Interface()); err != nil {
			return nil, err
		}
		arguments = append(arguments, argument)
	}
	for len(arguments) < of.NumIn()-1 { // the last arguments are request editors
		in, given := of.In(len(arguments)), c.Body
		if in.Kind() == reflect.Pointer {
			given = c.Query
		}
		argument := reflect.New(in)
		if len(given) > 0 {
			decoder := json.NewDecoder(bytes.NewReader(given))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(argument.Interface()); err != nil {
				return nil, fmt.Errorf("%s does not fit into %s: %w", given, in, err)
			}
		} else if in.Kind() == reflect.Pointer {
			argument.Elem().Set(reflect.New(in.Elem()))
		}
		arguments = append(arguments, argument.Elem())
	}
	return arguments, nil
}

// decode checks that the client has decoded the response, and that its type has every field.
func (c call) decode(result reflect.Value) (any, error) {
	answer := result.FieldByName("HTTPResponse").Interface().(*http.Response)
	body := result.FieldByName("Body").Bytes()
	want := c.Status
	if len(want) == 0 {
		want = []int{http.StatusOK}
	}
	if !slices.Contains(want, answer.StatusCode) {
		return nil, fmt.Errorf("got %d %s, want %d", answer.StatusCode, body, want)
	}
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
		return string(body), nil
	}
	decoded := result.FieldByName("JSON" + strconv.Itoa(answer.StatusCode))
	if !decoded.IsValid() || decoded.IsNil() {
		return nil, fmt.Errorf("the client has not decoded the answer %d %s", answer.StatusCode, body)
	}
	if err := strict(body, reflect.New(decoded.Type().Elem()).Interface()); err != nil {
		return nil, fmt.Errorf("%s: %w", body, err)
	}
	var plain any
	err := json.Unmarshal(body, &plain)
	return plain, err
}

func strict(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func firstEvent(answer *http.Response) (any, error) {
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("got %d, want a stream", answer.StatusCode)
	}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			var event postrider.LoggedEvent
			return data, strict([]byte(data), &event)
		}
	}
	return nil, fmt.Errorf("the stream ended without an event: %w", lines.Err())
}
