package dnsprovider

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The APIs with signed requests. The signatures are up to the libraries and not verified here.

func ovhAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /1.0/auth/time",
		func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, time.Now().Unix()) })
	const path = "/1.0/domain/zone/example.com/record"
	record := func(e entry) object {
		return object{"id": e.ID, "zone": "example.com", "fieldType": e.Type, "subDomain": e.Name, "ttl": e.TTL,
			"target": e.Value}
	}
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		ids := []int{}
		for _, e := range b.list {
			kind, name, named := r.FormValue("fieldType"), r.FormValue("subDomain"), r.Form.Has("subDomain")
			if (kind == "" || kind == e.Type) && (!named || name == e.Name) {
				ids = append(ids, e.ID)
			}
		}
		reply(w, 200, ids)
	})
	mux.HandleFunc("GET "+path+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		for _, e := range b.list {
			if e.ID == atoi(r.PathValue("id")) {
				reply(w, 200, record(e))
				return
			}
		}
		reply(w, 404, object{"message": "This service does not exist"})
	})
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			FieldType, SubDomain, Target string
			TTL                          int
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			reply(w, 400, object{"message": err.Error()})
			return
		}
		reply(w, 200, record(b.add(entry{Type: in.FieldType, Name: in.SubDomain, Value: in.Target, TTL: in.TTL})))
	})
	mux.HandleFunc("DELETE "+path+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		b.list = slices.DeleteFunc(b.list, func(e entry) bool { return e.ID == atoi(r.PathValue("id")) })
		reply(w, 200, nil)
	})
	mux.HandleFunc("POST /1.0/domain/zone/example.com/refresh",
		func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, nil) })
	return mux
}

func replyXML(w http.ResponseWriter, status int, name, inner string) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0"?><%s xmlns=%q>%s</%s>`, name, route53Space, inner, name)
}

func refuseRoute53(w http.ResponseWriter, said string) {
	replyXML(w, 403, "ErrorResponse", "<Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>"+said+
		"</Message></Error><RequestId>r</RequestId>")
}

func route53Server(b *book) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2013-04-01/hostedzonesbyname", func(w http.ResponseWriter, _ *http.Request) {
		replyXML(w, 200, "ListHostedZonesByNameResponse",
			"<HostedZones><HostedZone><Id>/hostedzone/Z1</Id><Name>example.com.</Name><CallerReference>c</CallerReference>"+
				"<Config><PrivateZone>false</PrivateZone></Config></HostedZone></HostedZones><IsTruncated>false</IsTruncated><MaxItems>1</MaxItems>")
	})
	mux.HandleFunc("GET /2013-04-01/hostedzone/Z1/rrset", func(w http.ResponseWriter, _ *http.Request) {
		var sets []route53Set
		for _, e := range b.list {
			n := slices.IndexFunc(sets, func(s route53Set) bool { return s.Name == e.Name+"." && s.Type == e.Type })
			if n < 0 {
				sets, n = append(sets, route53Set{Name: e.Name + ".", Type: e.Type, TTL: e.TTL}), len(sets)
			}
			sets[n].Values = append(sets[n].Values, route53Value{e.Value})
		}
		var inner strings.Builder
		for _, set := range sets {
			encoded, err := xml.Marshal(struct {
				XMLName xml.Name `xml:"ResourceRecordSet"`
				route53Set
			}{route53Set: set})
			if err != nil {
				panic(err)
			}
			inner.Write(encoded)
		}
		replyXML(w, 200, "ListResourceRecordSetsResponse", "<ResourceRecordSets>"+inner.String()+
			"</ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>1000</MaxItems>")
	})
	change := func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Changes []struct {
				Action string
				Set    route53Set `xml:"ResourceRecordSet"`
			} `xml:"ChangeBatch>Changes>Change"`
		}
		if err := xml.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Changes) != 1 {
			refuseRoute53(w, "not one change")
			return
		}
		action, set := in.Changes[0].Action, in.Changes[0].Set
		name := strings.TrimSuffix(set.Name, ".")
		b.list = slices.DeleteFunc(b.list, func(e entry) bool { return e.Name == name && e.Type == set.Type })
		for _, value := range set.Values {
			if action != "DELETE" {
				b.add(entry{Type: set.Type, Name: name, Value: value.Value, TTL: set.TTL})
			}
		}
		replyXML(w, 200, "ChangeResourceRecordSetsResponse",
			"<ChangeInfo><Id>/change/C1</Id><Status>INSYNC</Status><SubmittedAt>2026-01-01T00:00:00Z</SubmittedAt></ChangeInfo>")
	}
	mux.HandleFunc("POST /2013-04-01/hostedzone/Z1/rrset", change)
	mux.HandleFunc("POST /2013-04-01/hostedzone/Z1/rrset/", change)
	return mux
}
