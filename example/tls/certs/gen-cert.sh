#!/usr/bin/env bash
# Makes the nine files of a cluster with TLS, signed by an authority of its own, in the current folder.
set -o errexit -o nounset -o pipefail

cluster=example
namespace=default
domain=cluster.local
days=1825
keep_ca=
force=
names=()

usage() {
  cat >&2 <<USAGE
Makes the keys and certificates of one cluster in the current folder: nine files for three secrets.

Usage: $(basename "$0") [options]

  --cluster=NAME    the EtcdCluster (default: example)
  --namespace=NAME  its namespace (default: default)
  --domain=NAME     the DNS domain of Kubernetes (default: cluster.local)
  --name=NAME       one more name or address by which clients reach it; can be given again
  --days=NUMBER     how long the certificates hold (default: 1825)
  --keep-ca         leave the authority here, as ca.crt and ca.key, and use the one that is here
  --force           replace files that are here
  -h, --help        this text
USAGE
}

for option in "$@"; do
  case "$option" in
    --cluster=*) cluster="${option#*=}" ;;
    --namespace=*) namespace="${option#*=}" ;;
    --domain=*) domain="${option#*=}" ;;
    --name=*) names+=("${option#*=}") ;;
    --days=*) days="${option#*=}" ;;
    --keep-ca) keep_ca=yes ;;
    --force) force=yes ;;
    -h | --help) usage; exit 0 ;;
    *) echo "Unknown option: $option" >&2; usage; exit 1 ;;
  esac
done

if ! command -v openssl > /dev/null; then
  echo "openssl is not in the PATH. Install the package of that name, for example: apt-get install openssl" >&2
  exit 1
fi

for file in {peer,server,etcd-client}{.crt,.key,-ca.crt}; do
  if [ -e "$file" ] && [ -z "$force" ]; then
    echo "$file is here already. --force replaces it; whoever uses the old files must then get the new ones." >&2
    exit 1
  fi
done

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

new_key() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$1"
}

# subject_names NAME...: the value of a subjectAltName
subject_names() {
  local name list=()
  for name in "$@"; do
    if [[ $name == *:* || $name =~ ^[0-9.]+$ ]]; then
      list+=("IP:$name")
    else
      list+=("DNS:$name")
    fi
  done
  local IFS=,
  echo "${list[*]}"
}

# certificate FILE USAGE [NAME...]: FILE.key and FILE.crt, and the authority as FILE-ca.crt
certificate() {
  local file=$1 usage=$2
  shift 2
  new_key "$work/$file.key"
  {
    echo "basicConstraints = critical, CA:FALSE"
    echo "keyUsage = critical, digitalSignature"
    echo "extendedKeyUsage = $usage"
    if [ $# -gt 0 ]; then
      echo "subjectAltName = $(subject_names "$@")"
    fi
  } > "$work/$file.ext"
  openssl req -new -config "$work/openssl.cnf" -key "$work/$file.key" -subj "/O=$namespace/CN=$cluster-$file" -out "$work/$file.csr"
  openssl x509 -req -sha256 -in "$work/$file.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" \
    -set_serial "0x$(openssl rand -hex 16)" -days "$days" -extfile "$work/$file.ext" -out "$work/$file.crt" 2> "$work/log" ||
    { cat "$work/log" >&2; exit 1; }
  cp "$work/ca.crt" "$work/$file-ca.crt"
}

authority() {
  if [ -n "$keep_ca" ] && [ -e ca.crt ] && [ -e ca.key ]; then
    cp ca.crt ca.key "$work"
    return
  fi
  new_key "$work/ca.key"
  openssl req -x509 -new -sha256 -config "$work/openssl.cnf" -extensions ca -key "$work/ca.key" -days "$days" \
    -subj "/O=$namespace/CN=$cluster-ca" -out "$work/ca.crt"
}

# The machine's own settings of openssl shall not matter, nor that it has none.
cat > "$work/openssl.cnf" <<SETTINGS
[req]
distinguished_name = none
[none]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
SETTINGS

members="*.$cluster.$namespace.svc"
client="$cluster-client"

authority
# A member looks up by which name another reaches it, and DNS then answers with the full one.
certificate peer "serverAuth, clientAuth" "$members" "$members.$domain"
# etcd's own gateway speaks to etcd as a client, with this very certificate.
certificate server "serverAuth, clientAuth" "$members" "$members.$domain" \
  "$client" "$client.$namespace" "$client.$namespace.svc" "$client.$namespace.svc.$domain" \
  localhost 127.0.0.1 ${names[@]+"${names[@]}"}
certificate etcd-client clientAuth

cp "$work"/{peer,server,etcd-client}{.crt,.key,-ca.crt} .
if [ -n "$keep_ca" ]; then
  cp "$work/ca.crt" "$work/ca.key" .
fi
echo "Made for the cluster $cluster in the namespace $namespace, for $days days:"
ls {peer,server,etcd-client}{.crt,.key,-ca.crt}
