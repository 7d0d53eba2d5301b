package dnsprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

func cloudflareAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	show := func(e entry) object {
		return object{"id": strconv.Itoa(e.ID), "type": e.Type, "name": e.Name, "content": e.Value, "ttl": e.TTL,
			"priority": e.Priority}
	}
	mux.HandleFunc("GET /client/v4/zones", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, object{"success": true, "result": []any{object{"id": "z1", "name": "example.com"}}})
	})
	mux.HandleFunc("GET /client/v4/zones/z1/dns_records", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		found := []any{}
		for _, e := range b.list {
			if (q.Get("type") == "" || q.Get("type") == e.Type) &&
				(q.Get("name") == "" || strings.TrimSuffix(q.Get("name"), ".") == e.Name) &&
				strings.Contains(e.Value, q.Get("content.contains")) {
				found = append(found, show(e))
			}
		}
		const size = 2 // small pages, so that the second must be read too
		if page, err := strconv.Atoi(q.Get("page")); err == nil {
			from := (page - 1) * size
			reply(w, 200, object{"success": true, "result": found[min(from, len(found)):min(from+size, len(found))],
				"result_info": object{"page": page, "per_page": size, "count": size, "total_count": len(found)}})
			return
		}
		reply(w, 200, object{"success": true, "result": found,
			"result_info": object{"page": 1, "per_page": 100, "total_count": len(found)}})
	})
	mux.HandleFunc("POST /client/v4/zones/z1/dns_records", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Type, Name, Content string
			TTL, Priority       int
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			reply(w, 400, object{"errors": []any{object{"message": err.Error()}}})
			return
		}
		name := in.Name + ".example.com"
		if in.Name == "@" {
			name = "example.com"
		}
		e := b.add(entry{Type: in.Type, Name: name, Value: in.Content, TTL: in.TTL, Priority: in.Priority})
		reply(w, 200, object{"success": true, "result": show(e)})
	})
	mux.HandleFunc("DELETE /client/v4/zones/z1/dns_records/{id}", func(w http.ResponseWriter, r *http.Request) {
		b.list = slices.DeleteFunc(b.list, func(e entry) bool { return strconv.Itoa(e.ID) == r.PathValue("id") })
		reply(w, 200, object{"success": true, "result": object{"id": r.PathValue("id")}})
	})
	return mux
}

func digitaloceanAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	show := func(e entry) object {
		return object{"id": e.ID, "type": e.Type, "name": e.Name, "data": e.Value, "ttl": e.TTL, "priority": e.Priority}
	}
	mux.HandleFunc("GET /v2/domains/example.com/records", func(w http.ResponseWriter, r *http.Request) {
		page := max(1, atoi(r.URL.Query().Get("page")))
		const size = 2
		from, to := min((page-1)*size, len(b.list)), min(page*size, len(b.list))
		found, links := []any{}, object{}
		for _, e := range b.list[from:to] {
			found = append(found, show(e))
		}
		if page > 1 {
			links["prev"] = fmt.Sprintf("https://api.digitalocean.com/v2/domains/example.com/records?page=%d", page-1)
		}
		if to < len(b.list) {
			links["next"] = fmt.Sprintf("https://api.digitalocean.com/v2/domains/example.com/records?page=%d", page+1)
			links["last"] = "https://api.digitalocean.com/v2/domains/example.com/records?page=9"
		}
		reply(w, 200, object{"domain_records": found, "links": object{"pages": links},
			"meta": object{"total": len(b.list)}})
	})
	mux.HandleFunc("POST /v2/domains/example.com/records", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Type, Name, Data string
			TTL              int
			Priority         *int
		}
		isHost := func() bool { return in.Type == "CNAME" || in.Type == "MX" }
		if json.NewDecoder(r.Body).Decode(&in) != nil || isHost() && !strings.HasSuffix(in.Data, ".") {
			reply(w, 422, object{"id": "unprocessable_entity", "message": "Data needs to end with a dot (.)"})
			return
		}
		e := entry{Type: in.Type, Name: in.Name, Value: strings.TrimSuffix(in.Data, "."), TTL: in.TTL}
		if in.Type == "MX" {
			if in.Priority == nil {
				reply(w, 422, object{"id": "unprocessable_entity", "message": "Priority is required"})
				return
			}
			e.Priority = *in.Priority
		}
		e = b.add(e)
		reply(w, 201, object{"domain_record": show(e)})
	})
	mux.HandleFunc("DELETE /v2/domains/example.com/records/{id}", func(w http.ResponseWriter, r *http.Request) {
		b.list = slices.DeleteFunc(b.list, func(e entry) bool { return e.ID == atoi(r.PathValue("id")) })
		w.WriteHeader(204)
	})
	return mux
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// badStrings returns the error of a provider that requires texts in zone file format.
func badStrings(e entry) string {
	if e.Type != "TXT" {
		return ""
	}
	rr, err := dns.NewRR("x. 60 IN TXT " + e.Value)
	if err != nil || !strings.HasPrefix(e.Value, `"`) {
		return "TXT must be quoted strings"
	}
	for _, part := range rr.(*dns.TXT).Txt {
		if len(part) > 255 {
			return "TXT strings have at most 255 bytes"
		}
	}
	return ""
}

func hetznerAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/zones/{zone}", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, object{"zone": object{"id": 7, "name": "example.com", "ttl": 3600}})
	})
	mux.HandleFunc("GET /v1/zones/{zone}/rrsets", func(w http.ResponseWriter, r *http.Request) {
		sets, order := map[string]object{}, []any{}
		for _, e := range b.list {
			key := e.Name + "/" + e.Type
			if sets[key] == nil {
				sets[key] = object{"id": key, "name": e.Name, "type": e.Type, "ttl": e.TTL, "records": []any{},
					"zone": 7}
				order = append(order, sets[key])
			}
			sets[key]["records"] = append(sets[key]["records"].([]any), object{"value": e.Value})
		}
		const size = 2 // small pages, so that the second must be read too
		page := max(1, atoi(r.URL.Query().Get("page")))
		from, to := min((page-1)*size, len(order)), min(page*size, len(order))
		pagination := object{"page": page, "per_page": size, "total_entries": len(order), "next_page": nil}
		if to < len(order) {
			pagination["next_page"] = page + 1
		}
		reply(w, 200, object{"rrsets": order[from:to], "meta": object{"pagination": pagination}})
	})
	done := object{"action": object{"id": 1, "status": "success", "command": "x", "progress": 100}}
	change := func(do func(e entry, ttl *int) string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var in struct {
				TTL     *int
				Records []struct{ Value string }
			}
			var problem string
			if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Records) != 1 {
				problem = "bad body"
			} else {
				problem = do(entry{Name: r.PathValue("name"), Type: r.PathValue("type"), Value: in.Records[0].Value,
					TTL: 3600}, in.TTL)
			}
			if problem != "" {
				reply(w, 422, object{"error": object{"code": "invalid_input", "message": problem}})
				return
			}
			reply(w, 201, done)
		}
	}
	mux.HandleFunc("POST /v1/zones/{zone}/rrsets/{name}/{type}/actions/add_records",
		change(func(e entry, ttl *int) string {
			for _, other := range b.list {
				if other.Name == e.Name && other.Type == e.Type && ttl != nil && *ttl != other.TTL {
					return "the TTL differs from that of the set"
				}
			}
			b.add(e)
			return badStrings(e)
		}))
	mux.HandleFunc("POST /v1/zones/{zone}/rrsets/{name}/{type}/actions/remove_records",
		change(func(e entry, _ *int) string {
			b.list = slices.DeleteFunc(b.list, func(other entry) bool {
				return other.Name == e.Name && other.Type == e.Type && other.Value == e.Value
			})
			return ""
		}))
	mux.HandleFunc("GET /v1/actions", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, object{"actions": []any{done["action"]}})
	})
	return mux
}

func gandiAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	const base = "https://api.gandi.net/v5/livedns/domains/example.com/records"
	mux.HandleFunc("GET /v5/livedns/domains/example.com", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, object{"fqdn": "example.com", "domain_records_href": base})
	})
	sets := func(name, recordType string) []object {
		var list []object
		for _, e := range b.list {
			if name != "" && (e.Name != name || e.Type != recordType) {
				continue
			}
			n := slices.IndexFunc(list, func(o object) bool {
				return o["rrset_name"] == e.Name &&
					o["rrset_type"] == e.Type
			})
			if n < 0 {
				list, n = append(list, object{"rrset_name": e.Name, "rrset_type": e.Type, "rrset_ttl": e.TTL,
					"rrset_values": []string{}}), len(list)
			}
			list[n]["rrset_values"] = append(list[n]["rrset_values"].([]string), e.Value)
		}
		return list
	}
	const path = "/v5/livedns/domains/example.com/records"
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, sets("", "")) })
	mux.HandleFunc("GET "+path+"/{name}/{type}", func(w http.ResponseWriter, r *http.Request) {
		found := sets(r.PathValue("name"), r.PathValue("type"))
		if len(found) == 0 {
			reply(w, 404, object{"code": 404, "message": "no such record"})
			return
		}
		reply(w, 200, found[0])
	})
	mux.HandleFunc("PUT "+path+"/{name}/{type}", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			RRSetTTL    int      `json:"rrset_ttl"`
			RRSetValues []string `json:"rrset_values"`
		}
		err := json.NewDecoder(r.Body).Decode(&in)
		b.list = slices.DeleteFunc(b.list, func(e entry) bool {
			return e.Name == r.PathValue("name") &&
				e.Type == r.PathValue("type")
		})
		for _, v := range in.RRSetValues {
			e := b.add(entry{Name: r.PathValue("name"), Type: r.PathValue("type"), Value: v, TTL: in.RRSetTTL})
			if problem := badStrings(e); err != nil || problem != "" {
				reply(w, 400, object{"code": 400, "message": problem})
				return
			}
		}
		reply(w, 201, object{"message": "DNS Record Created"})
	})
	return mux
}
