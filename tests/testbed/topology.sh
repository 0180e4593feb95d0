# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The drives of the virtual machine. testbed.sh reads this file and calls topology_args FOLDER ...,
# which adds qemu arguments to the array topo. Drives are found by serial, since nvmeN numbers
# follow the order of probing.

# drive NAME MIB BLOCK_BYTES: a controller with one namespace, serial PST-NAME, image in $folder.
drive() {
    truncate -s "$2M" "$folder/$1.raw"
    topo+=(
        -drive "if=none,id=image-$1,file=$folder/$1.raw,format=raw,cache=unsafe,discard=unmap"
        -device "nvme,id=drive-$1,serial=PST-$1"
        -device "nvme-ns,bus=drive-$1,drive=image-$1,nsid=1,logical_block_size=$3,physical_block_size=$3"
    )
}

# shellcheck disable=SC2054 # the commas are qemu's
topology_args() {
    local folder=$1
    topo+=(-smp 2)
    drive plain 96 512
    drive 4kn 40 4096
    drive pair0 96 512
    drive pair1 96 512
    drive small 8 512
    drive leaves 48 512
    # As a drive with two ports: its namespace is a multipath device without a controller above it.
    truncate -s 32M "$folder/shared.raw"
    topo+=(
        -drive "if=none,id=image-shared,file=$folder/shared.raw,format=raw,cache=unsafe"
        -device nvme-subsys,id=subsystem,nqn=penstock-test
        -device nvme,id=drive-shared,serial=PST-shared,subsys=subsystem
        -device nvme-ns,bus=drive-shared,drive=image-shared,nsid=1
    )
}
