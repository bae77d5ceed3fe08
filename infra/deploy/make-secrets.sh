#!/usr/bin/env bash
# Makes the secrets of compose.yml, each a file in infra/deploy/secrets: keys, tokens, a password for every role at MongoDB and RabbitMQ. A file
# that exists is kept. The folder is closed to other users of this host; its files can be read by all, because the processes in the
# containers have users of their own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
umask 077
mkdir -p secrets
chmod 700 secrets

# secret <name> <command…>: what the command prints becomes the file.
secret() {
  local file=secrets/$1
  shift
  [[ -s $file ]] && return
  # A file that exists is kept, so a broken one must never get its name.
  "$@" >"$file.new"
  chmod 444 "$file.new"
  mv -f "$file.new" "$file"
}
password() { openssl rand -hex 24; }
# Into a variable first: a command that fails inside the argument of echo does not end the script.
key() {
  local bytes
  bytes=$(openssl rand -base64 32)
  echo "k1:$bytes"
}
url() {
  local word
  word=$(password)
  echo "$1$word$2"
}
# The administrator's password stands in RabbitMQ's own configuration too.
rabbitmq_conf() { sed -E 's#^http://([^:]+):([^@]+)@.*#default_user = \1\ndefault_pass = \2#' secrets/rabbitmq_admin_url; }
mongodb_password() { sed -E 's#^mongodb://[^:]+:([^@]+)@.*#\1#' secrets/mongodb_admin_url; }

secret code_secrets key
secret data_keys key
secret admin_token password
secret metrics_token password
secret mongodb_keyfile openssl rand -base64 756
secret mongodb_admin_url url 'mongodb://admin:' '@mongodb:27017/?authSource=admin'
secret mongodb_admin_password mongodb_password
secret rabbitmq_admin_url url 'http://admin:' '@rabbitmq:15672'
secret rabbitmq_conf rabbitmq_conf
for role in edge otp channel-sms channel-whatsapp channel-telegram channel-email webhook sweeper dashboard; do
  secret "${role}_mongodb_url" url "mongodb://$role:" '@mongodb:27017/countersign?replicaSet=countersign'
  secret "${role}_amqp_url" url "amqp://$role:" '@rabbitmq:5672/countersign'
done
