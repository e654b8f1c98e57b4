module box.local/etcd

go 1.26.0

require github.com/coreos/etcd v3.2.13+incompatible // indirect

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/bgentry/speakeasy v0.2.0 // indirect
	github.com/cockroachdb/cmux v0.0.0-00010101000000-000000000000 // indirect
	github.com/coreos/bbolt v0.0.0-00010101000000-000000000000 // indirect
	github.com/coreos/go-semver v0.3.1 // indirect
	github.com/coreos/go-systemd v0.0.0-00010101000000-000000000000 // indirect
	github.com/coreos/pkg v0.0.0-20240122114842-bbd7aa9bf6fb // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // indirect
	github.com/dgrijalva/jwt-go v3.2.0+incompatible // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/fatih/color v1.19.0 // indirect
	github.com/ghodss/yaml v1.0.0 // indirect
	github.com/gogo/protobuf v1.1.1 // indirect
	github.com/golang/glog v1.2.5 // indirect
	github.com/golang/groupcache v0.0.0-20241129210726-2c02b8208cf8 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/google/btree v1.1.3 // indirect
	github.com/grpc-ecosystem/go-grpc-prometheus v1.2.0 // indirect
	github.com/grpc-ecosystem/grpc-gateway v0.0.0-00010101000000-000000000000 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/mattn/go-colorable v0.1.16 // indirect
	github.com/mattn/go-runewidth v0.0.9 // indirect
	github.com/matttproud/golang_protobuf_extensions v1.0.1 // indirect
	github.com/olekukonko/tablewriter v0.0.0-00010101000000-000000000000 // indirect
	github.com/prometheus/client_golang v0.9.1 // indirect
	github.com/prometheus/client_model v0.0.0-20180712105110-5c3871d89910 // indirect
	github.com/prometheus/common v0.0.0-00010101000000-000000000000 // indirect
	github.com/prometheus/procfs v0.0.0-20181005140218-185b4288413d // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/soheilhy/cmux v0.1.5 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	github.com/ugorji/go/codec v1.1.7 // indirect
	github.com/urfave/cli v1.22.17 // indirect
	github.com/xiang90/probing v0.0.0-20221125231312-a49e3df8f510 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.16.0 // indirect
	google.golang.org/genproto v0.0.0-00010101000000-000000000000 // indirect
	google.golang.org/grpc v0.0.0-00010101000000-000000000000 // indirect
	gopkg.in/cheggaaa/pb.v1 v1.0.28 // indirect
	gopkg.in/yaml.v2 v2.4.0 // indirect
)

replace github.com/cockroachdb/cmux => github.com/soheilhy/cmux v0.1.4

replace google.golang.org/grpc => google.golang.org/grpc v1.7.5

replace github.com/golang/protobuf => github.com/golang/protobuf v1.2.0

replace github.com/grpc-ecosystem/grpc-gateway => github.com/grpc-ecosystem/grpc-gateway v1.3.0

replace github.com/coreos/bbolt => go.etcd.io/bbolt v1.3.1-etcd.7

replace github.com/prometheus/client_golang => github.com/prometheus/client_golang v0.8.0

replace github.com/gogo/protobuf => github.com/gogo/protobuf v1.0.0

replace github.com/coreos/go-systemd => github.com/coreos/go-systemd v0.0.0-20190321100706-95778dfbb74e

replace github.com/prometheus/common => github.com/prometheus/common v0.4.0

replace github.com/prometheus/procfs => github.com/prometheus/procfs v0.0.2

replace github.com/prometheus/client_model => github.com/prometheus/client_model v0.0.0-20190129233127-fd36f4220a90

replace google.golang.org/genproto => google.golang.org/genproto v0.0.0-20180831171423-11092d34479b

replace google.golang.org/genproto/googleapis/rpc => google.golang.org/genproto v0.0.0-20180831171423-11092d34479b

replace google.golang.org/genproto/googleapis/api => google.golang.org/genproto v0.0.0-20180831171423-11092d34479b

replace golang.org/x/net => golang.org/x/net v0.0.0-20200822124328-c89045814202

replace github.com/ugorji/go/codec => github.com/ugorji/go/codec v1.1.7

replace github.com/ugorji/go => github.com/ugorji/go v1.1.7

replace github.com/olekukonko/tablewriter => github.com/olekukonko/tablewriter v0.0.5

tool (
	github.com/coreos/etcd
	github.com/coreos/etcd/etcdctl
)
