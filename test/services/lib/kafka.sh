# Kafka: one process, broker and controller in one (KRaft). Sourced by ../services.
# shellcheck shell=bash

# Pinned: the newest version listed is not always complete in the repository.
KAFKA_VERSION=${KAFKA_VERSION:-4.3.1}
KAFKA_IMAGE=${KAFKA_IMAGE:-apache/kafka:$KAFKA_VERSION}

kafka_ports() {
  draw_port kafka
  draw_port kafka-controller
  [ -z "${KAFKA_SECURE:-}" ] || draw_port kafka-secure
}

kafka_cache() { echo "${SERVICES_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/platform-scheduler}"; }

# kafka_libs: the directory of the jars, fetched by Maven on first use.
kafka_libs() {
  if [ -n "${KAFKA_HOME:-}" ]; then
    [ -d "$KAFKA_HOME/libs" ] || fail "KAFKA_HOME=$KAFKA_HOME has no libs"
    echo "$KAFKA_HOME/libs"
    return
  fi
  local libs work
  libs=$(kafka_cache)/kafka-$KAFKA_VERSION
  if [ ! -d "$libs" ]; then
    have mvn || fail "kafka needs mvn to fetch its jars (Debian: maven), or KAFKA_HOME: run test/services/install kafka"
    mkdir -p "$(kafka_cache)"
    work=$(mktemp -d "$(kafka_cache)/fetch.XXXXXX")
    kafka_pom >"$work/pom.xml"
    if ! mvn --batch-mode --quiet -f "$work/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory="$work/libs" </dev/null >>"$DIR/log/kafka.log" 2>&1; then
      rm -rf "$work"
      not_started kafka "Maven could not fetch version $KAFKA_VERSION"
    fi
    # Whole or not at all; a fetch that ran beside ours may have been first.
    mv "$work/libs" "$libs" 2>/dev/null || [ -d "$libs" ]
    rm -rf "$work" "$libs/libs"
  fi
  echo "$libs"
}

kafka_pom() {
  cat <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>platform-scheduler</groupId>
  <artifactId>test-kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$KAFKA_VERSION</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
POM
}

# kafka_settings: KEY=VALUE lines, the same for a process and a container.
kafka_settings() {
  cat <<SETTINGS
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
num.partitions=4
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
SETTINGS
  # The default of 128 MB does not fit the small heap: the broker would end at its start.
  echo log.cleaner.dedupe.buffer.size=2097152
}

# kafka_secure_settings: the listener with TLS, where clients sign in. A mechanism has its users apart: those of PLAIN
# stand here, those of SCRAM are added when the storage is formatted.
kafka_secure_settings() {
  local mechanism key
  cat <<SETTINGS
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_scheduler="$KAFKA_SECURE_PASSWORD";
listener.name.secure.ssl.keystore.type=PEM
listener.name.secure.ssl.keystore.location=$KAFKA_SECURE
SETTINGS
  for mechanism in 256 512; do
    key=listener.name.secure.scram-sha-$mechanism.sasl.jaas.config
    echo "$key=org.apache.kafka.common.security.scram.ScramLoginModule required;"
  done
}

kafka_up() {
  ! running kafka || return 0
  mkdir -p "$DIR/kafka"
  if have java && { [ -n "${KAFKA_HOME:-}" ] || [ -d "$(kafka_cache)/kafka-$KAFKA_VERSION" ] || have mvn; }; then
    kafka_process
  elif docker_answers && [ -z "${KAFKA_SECURE:-}" ]; then
    kafka_container
  else
    fail "kafka needs java and mvn (Debian: default-jre-headless maven): run test/services/install kafka"
  fi
}

kafka_process() {
  local root=$DIR/kafka libs port controller map='' secure='' mechanism
  libs=$(kafka_libs)
  port=$(port_of kafka)
  controller=$(port_of kafka-controller)
  set --
  if [ -n "${KAFKA_SECURE:-}" ]; then
    secure=",SECURE://127.0.0.1:$(port_of kafka-secure)"
    map=',SECURE:SASL_SSL'
    for mechanism in 256 512; do
      set -- "$@" --add-scram "SCRAM-SHA-$mechanism=[name=scheduler,password=$KAFKA_SECURE_PASSWORD]"
    done
  fi
  {
    kafka_settings | sed "/^listener.security.protocol.map=/s/\$/$map/"
    echo "log.dirs=$root/data"
    echo "controller.quorum.voters=1@127.0.0.1:$controller"
    echo "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller$secure"
    echo "advertised.listeners=PLAINTEXT://127.0.0.1:$port$secure"
    [ -z "$secure" ] || kafka_secure_settings
  } >"$root/server.properties"
  if [ ! -s "$root/data/meta.properties" ]; then
    rm -rf "$root/data"
    # A cluster id is 16 bytes of base64url without padding.
    java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$libs/*" kafka.tools.StorageTool format \
      -t "$(head -c 16 /dev/urandom | base64 | tr '+/' 'AB' | tr -d '=\n')" -c "$root/server.properties" "$@" \
      >>"$DIR/log/kafka.log" 2>&1 || not_started kafka "formatting its storage failed"
  fi
  launch kafka java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -cp "$libs/*" kafka.Kafka "$root/server.properties"
  await kafka 60 port_answers "$port"
}

# The image wants all of its settings as KAFKA_… variables as soon as one is given.
kafka_container() {
  local port line
  port=$(port_of kafka)
  set -- --publish "127.0.0.1:$port:$port" \
    --env "KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:$port,CONTROLLER://127.0.0.1:9093" \
    --env "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:$port" \
    --env KAFKA_CONTROLLER_QUORUM_VOTERS=1@127.0.0.1:9093 \
    --env KAFKA_LOG_DIRS=/var/lib/kafka/data --volume "$DIR/kafka/container-data:/var/lib/kafka/data"
  mkdir -p "$DIR/kafka/container-data"
  while read -r line; do
    set -- "$@" --env "KAFKA_$(printf '%s' "${line%%=*}" | tr 'a-z.' 'A-Z_')=${line#*=}"
  done <<SETTINGS
$(kafka_settings)
SETTINGS
  launch_container kafka "$@" "$KAFKA_IMAGE"
  # The published port answers before the broker does: ask the broker.
  await kafka 120 docker exec "$(container_of kafka)" /opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server "127.0.0.1:$port"
}

kafka_exports() {
  emit KAFKA_BROKERS "127.0.0.1:$(port_of kafka)"
  [ -z "${KAFKA_SECURE:-}" ] || emit KAFKA_SECURE_BROKERS "127.0.0.1:$(port_of kafka-secure)"
}
