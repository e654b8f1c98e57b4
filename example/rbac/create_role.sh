#!/usr/bin/env bash
# Gives the operator its rights: fills in the two cluster templates beside this file and sends them to Kubernetes.
# It can be run again, and over the role of the archived operator, whose rights it replaces.
set -o errexit -o nounset -o pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
role="${ROLE_NAME:-etcd-operator}"
binding="${ROLE_BINDING_NAME:-etcd-operator}"
namespace="${NAMESPACE:-default}"

usage() {
  cat >&2 <<USAGE
Gives the operator's rights in all namespaces to the account "default" of one of them.

Usage: $(basename "$0") [options]

  --role-name=NAME          the ClusterRole (default: etcd-operator; variable: ROLE_NAME)
  --role-binding-name=NAME  the ClusterRoleBinding (default: etcd-operator; variable: ROLE_BINDING_NAME)
  --namespace=NAME          where the operator runs (default: default; variable: NAMESPACE)
  -h, --help                this text
USAGE
}

for option in "$@"; do
  case "$option" in
    --role-name=*) role="${option#*=}" ;;
    --role-binding-name=*) binding="${option#*=}" ;;
    --namespace=*) namespace="${option#*=}" ;;
    -h | --help) usage; exit 0 ;;
    *) echo "Unknown option: $option" >&2; usage; exit 1 ;;
  esac
done

if ! command -v kubectl > /dev/null; then
  echo "kubectl is not in the PATH; it is needed to create the role." >&2
  exit 1
fi

create() {
  sed -e "s/<ROLE_NAME>/$role/g" -e "s/<ROLE_BINDING_NAME>/$binding/g" -e "s/<NAMESPACE>/$namespace/g" "$here/$1" |
    kubectl apply -f -
}

create cluster-role-template.yaml
create cluster-role-binding-template.yaml
