# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Index, UUID, its beginning and the bus id mean the same GPU, and the result shows all three.
random_file data 65536
need_fake_gpus
run() {
    expect 0 with_fake_gpus 4 env ${VISIBLE:+CUDA_VISIBLE_DEVICES="$VISIBLE"} \
        penstock io -f data -i 4K -x 0 -d "$1" --json report.json
}
field() {
    python3 -c 'import json, sys; print(json.load(open("report.json"))["results"][0]["device"][sys.argv[1]])' "$1"
}
run 2
uuid=$(field uuid)
bus=$(field bus_id)
[[ $uuid =~ ^GPU-[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$ ]] || fail "UUID '$uuid'"
[[ $bus =~ ^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0$ ]] || fail "bus id '$bus'"
stdout_contains "GPU 2 = "
stdout_contains "($bus) $uuid"
for name in "$uuid" "${uuid:0:12}" "${uuid:4:8}" "${uuid^^}" "$bus" "0000$bus" "${bus^^}"; do
    run "$name"
    json report.json "(d['results'][0]['device']['uuid'], d['results'][0]['device']['bus_id']) == ('$uuid', '$bus')"
    json report.json "d['results'][0]['device']['index'] == 2 and d['job']['device_asked'] == '$name'"
done

# In a list of visible GPUs the index counts within it.
for VISIBLE in "$uuid" "${uuid:0:12}"; do
    run 0
    json report.json "(d['results'][0]['device']['uuid'], d['results'][0]['device']['bus_id']) == ('$uuid', '$bus')"
    json report.json "d['results'][0]['device']['index'] == 0"
done
