package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Operation declares an operation for the router, for the guard of its handler, and for the OpenAPI document.
type Operation struct {
	Method      string
	Path        string // below Prefix
	ID          string
	Summary     string
	Description string
	Needs       rights.Operation // determines which scopes and roles may call it
	Public      bool             // requires no authentication; Needs is ignored
	Confirmed   bool             // requires a recently confirmed session
	Audited     bool             // its service writes the audit log entry
	Quiet       bool             // changes nothing that belongs in the audit log
	Of          Noun             // the resource that {id} in the path identifies
	Body        *Body            // nil: accepts none
	Problems    []int            // statuses in addition to the common ones
	Example     any              // of the successful response
	Answer      any              // a value of the successful response's type, if the handler writes bytes
	Media       string           // media type of the successful response, if it is text and not JSON
	Forms       map[string]any   // examples of the successful response by media type, if it is one of several texts
	OpenQuery   bool             // unknown query parameters are ignored, because others construct its URL
	Secret      bool             // the response contains a secret and is stored encrypted
	Private     bool             // neither its body nor its response is logged
	Unlogged    bool             // its response is not logged
	Slow        bool             // waits for more than the database; its service limits the time
	Status      int              // status of the successful response; 0 means 200
	Stores      Stores           // what counts against the byte quota of the account

	idempotent bool // reads Idempotency-Key
	query      []string
	schema     func(huma.Registry) *huma.Schema // of the successful response
}

// Stores defines what a write charges to the byte quota of its account.
type Stores int

// What an operation stores.
const (
	StoresBody    Stores = iota // its body and a row
	StoresItself                // its service charges what it stores
	StoresNothing               // changes or starts existing resources; works even if the quota is used up
)

// chargesBody reports whether the body of the operation counts against the byte quota. Every write does unless it
// declares otherwise; a deletion never does.
func (op Operation) chargesBody() bool {
	if op.Public || op.Stores != StoresBody || op.Method == http.MethodGet || op.Method == http.MethodDelete {
		return false
	}
	return op.Needs == rights.Write || op.Needs == rights.Send
}

// Body describes the body of an operation, in addition to its declared fields.
type Body struct {
	About    string
	Limit    int64          // bytes; 0: 1 MB
	Large    bool           // processing it uses the memory budget for large bodies
	Examples map[string]any // by name
}

func (b *Body) sizeLimit() int64 {
	if b.Limit == 0 {
		return bodyLimit
	}
	return b.Limit
}

// describeBody describes the body of an operation.
func (b *Body) describeBody(schema *huma.Schema) *huma.RequestBody {
	media := &huma.MediaType{Schema: schema, Examples: map[string]*huma.Example{}}
	for name, example := range b.Examples {
		media.Examples[name] = &huma.Example{Value: example}
	}
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{jsonType: media},
		Description: fmt.Sprintf("%s At most %d bytes.", b.About, b.sizeLimit())}
}

// Noun is the kind of resource that the {id} of a path identifies.
type Noun struct {
	Name    string // for "No such …"
	About   string
	Example string
	Is      func(word string) bool // reports whether a word can be an ID, so that the service is not called for others; nil: always call it
}

// Check refuses a word that cannot be an ID of the noun.
func (n Noun) Check(id string) error {
	if n.Is == nil || n.Is(id) {
		return nil
	}
	return fault.NoSuch(n.Name, body.PrintableName(id))
}

// None is the input of an operation without parameters, or the body of one without.
type None struct{}

// Item is the input of an operation whose path has an {id}. Huma reads the parameters of
// an embedded struct, so inputs with more parameters embed it.
type Item struct {
	ID string `path:"id"`
}

func (i *Item) subjectID() string { return i.ID }

// TagGroup contains the operations of one tag.
type TagGroup struct {
	api *API
	tag string
}

// Tag starts a group and describes it. The description is empty if another resource describes the group.
func (a *API) Tag(name, about string) *TagGroup {
	if about != "" {
		d := a.huma.OpenAPI()
		d.Tags = append(d.Tags, &huma.Tag{Name: name, Description: about})
	}
	return &TagGroup{api: a, tag: name}
}

// DomainScoped is a service that decides whether a key limited to some domains can access a resource. Error: NotFound.
type DomainScoped interface {
	IsWithin(ctx context.Context, accountID, id string, domainIDs []string) (bool, error)
}

// Bind sets the service that decides which resources a key limited to some domains can access. Without one, such
// keys cannot access any resource of the noun.
func (g *TagGroup) Bind(of Noun, service any) {
	if bound, is := service.(DomainScoped); is {
		g.api.bound[of.Name] = bound
	}
}

// Describe adds descriptions other than operations to the document.
func (a *API) Describe(add func(*huma.OpenAPI)) { add(a.huma.OpenAPI()) }

// addOperation registers an operation, wrapped by the guard, with Huma.
func addOperation[I, O any](g *TagGroup, op Operation, schema *huma.Schema,
	handle func(context.Context, *Call, *I) (*O, error)) {
	op.query = queryParameters(reflect.TypeFor[I]())
	huma.Register(g.api.huma, g.toHuma(op, schema), func(ctx context.Context, in *I) (*O, error) {
		return handle(ctx, callOf(ctx), in)
	})
}

// toHuma records an operation and returns its form for Huma. It is not part of addOperation, which is compiled for each
// pair of input and output.
func (g *TagGroup) toHuma(op Operation, schema *huma.Schema) huma.Operation {
	g.api.operations = append(g.api.operations, op)
	return huma.Operation{
		Method: op.Method, Path: op.Path, OperationID: op.ID, Tags: []string{g.tag},
		Summary: op.Summary, Description: op.Description, DefaultStatus: cmp.Or(op.Status, http.StatusOK),
		Middlewares: huma.Middlewares{g.api.guard(op)},
		Metadata:    map[string]any{openapi.Key: op.toOpenAPI(schema)},
	}
}

// Permission returns the permission of API keys that allows the operation, or "" if none does.
func (op Operation) Permission() rights.Permission {
	p, _ := rights.PermissionOf(op.Path, op.Needs)
	return p
}

// TestAccess returns how the operation works in test mode.
func (op Operation) TestAccess() rights.TestAccess {
	access, _ := rights.TestAccessOf(op.Path, op.Needs)
	return access
}

func (op Operation) toOpenAPI(schema *huma.Schema) openapi.OperationDoc {
	out := openapi.OperationDoc{Idempotent: op.idempotent, Problems: op.Problems, Media: op.Media, Forms: op.Forms,
		Example: op.Example, Answer: op.schema,
		Path: map[string]openapi.PathParameter{"id": {About: op.Of.About, Example: op.Of.Example}}}
	out.Public = op.Public
	for _, r := range rights.Roles() {
		if !op.Public && r.Allows(op.Needs) {
			out.Roles = append(out.Roles, string(r))
		}
	}
	for _, s := range rights.Scopes() {
		if !op.Public && s.Allows(op.Needs) {
			out.Scopes = append(out.Scopes, string(s))
		}
	}
	if op.Body != nil {
		out.Request = op.Body.describeBody(schema)
	}
	if op.Answer != nil {
		out.Answer = schemaOf(reflect.TypeOf(op.Answer), "")
	}
	return out
}

// schemaOf describes a type. A type without a name is named after the operation.
func schemaOf(t reflect.Type, name string) func(huma.Registry) *huma.Schema {
	return func(schemas huma.Registry) *huma.Schema { return schemas.Schema(t, true, name) }
}

// answer is the output of all operations whose handlers return a value. Huma's code is compiled for each type of
// output, so the type of the value is described by the schema of the operation only.
type answer struct{ Body any }

// queryParameters returns the names of the query parameters in a parameter struct.
func queryParameters(input reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(input) {
		if name := f.Tag.Get("query"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// checkItem refuses an {id} that cannot be valid.
func (op Operation) checkItem(in any) error {
	if item, has := in.(interface{ subjectID() string }); has {
		return op.Of.Check(item.subjectID())
	}
	return nil
}

// LookupOperation returns the operation with an ID, such as sendEmail, if its module is on.
func (a *API) LookupOperation(operationID string) (Operation, bool) {
	for _, op := range a.operations {
		if op.ID == operationID {
			return op, true
		}
	}
	return Operation{}, false
}
