# Writes one source file a room, unit_<room>.cpp, which includes all files of that room: most of a
# compilation is Eigen's templates, which are then instantiated once a room. Run in src/:
#   sh core/units.sh base block ... glue
# A unit is written anew only if its list of files has changed, and touched if one of these files, or
# any header, is newer, so that make compiles what has to be compiled and nothing else.
set -e
LC_ALL=C
export LC_ALL

for room in "$@"; do
  unit=unit_$room.cpp
  if [ "$room" = glue ]; then
    sources="RcppExports.cpp $(ls r_*.cpp)"
    first=r_eigen.h
  else
    sources=$(find "core/$room" -name '*.cpp' | sort)
    first=
  fi
  for file in $first $sources; do echo "#include \"$file\""; done >"$unit.new"
  if cmp -s "$unit.new" "$unit"; then rm "$unit.new"; else mv "$unit.new" "$unit"; fi
  newer=$(find . -name '*.h*' -newer "$unit"; [ -z "$sources" ] || find $sources -newer "$unit")
  [ -z "$newer" ] || touch "$unit"
done
