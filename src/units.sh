# Writes one source file a room, unit_<room>.cpp, which includes all files of that room: most of a
# compilation is Eigen's templates, which are then instantiated once a room.
#   sh units.sh base block ... glue
# A unit is written anew only if its list of files has changed, and touched if one of the files it
# may include is newer, so that make compiles what has to be compiled and nothing else.
for room in "$@"; do
  unit=unit_$room.cpp
  if [ "$room" = glue ]; then files="r_eigen.h RcppExports.cpp $(ls r_*.cpp)"; sources=.
  else files=$(find "core/$room" -name '*.cpp' | LC_ALL=C sort); sources=core/$room
  fi
  for file in $files; do echo "#include \"$file\""; done >"$unit.new"
  if cmp -s "$unit.new" "$unit"; then rm "$unit.new"; else mv "$unit.new" "$unit"; fi
  newer=$(find "$sources" -name '*.cpp' ! -name 'unit_*' -newer "$unit"; find . -name '*.h*' -newer "$unit")
  [ -z "$newer" ] || touch "$unit"
done
