#!/bin/sh
# Starts a process of the service from the top of the repository: infra/start.sh [role …]. `npm start` and the image do so.
# Node takes the size of its young generation only when it starts, so HEAP_YOUNG_MB becomes a flag here. A value that is no
# number is left to the program, which says what is wrong with it.
case ${HEAP_YOUNG_MB:-} in
'' | *[!0-9]*) exec node dist/services/main.js "$@" ;;
*) exec node "--max-semi-space-size=$HEAP_YOUNG_MB" dist/services/main.js "$@" ;;
esac
