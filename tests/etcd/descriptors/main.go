// Prints the descriptors that etcd's own API packages carry: a list of three files, each gzipped, in base64.
package main

import (
	"encoding/json"
	"os"

	"go.etcd.io/etcd/api/v3/authpb"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

func main() {
	keys, _ := (&mvccpb.KeyValue{}).Descriptor()
	permissions, _ := (&authpb.Permission{}).Descriptor()
	calls, _ := (&etcdserverpb.RangeRequest{}).Descriptor()
	if err := json.NewEncoder(os.Stdout).Encode([][]byte{keys, permissions, calls}); err != nil {
		panic(err)
	}
}
