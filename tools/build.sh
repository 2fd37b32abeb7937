# Functions that ./shoal, ./test, tools/lint and the devcontainer share: installing packages and building. Sourced by bash
# with $root set to the top of the checkout. All messages go to stderr.

say() { printf 'shoal: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

# packages SECTION: the names in that section of tools/packages.
packages() {
  local section='' line
  while read -r line; do
    case $line in
      '# build' | '# mpi' | '# test' | '# develop' | '# npm') section=${line#'# '} ;;
      '' | '#'*) ;;
      *) [[ $section == "$1" ]] && printf '%s\n' "$line" ;;
    esac
  done <"$root/tools/packages"
}

# run_logged LOG COMMAND…: shows the command's output on a terminal; else keeps it in LOG and shows it on failure.
# Standard input is not redirected: it may be the module that ./shoal reads.
run_logged() {
  local log=$1
  shift
  if [[ -t 2 ]]; then
    "$@" </dev/null >&2
  else
    "$@" </dev/null >"$log" 2>&1 || { tail -n 60 "$log" >&2; return 1; }
  fi
}

# install_packages SECTION…: installs the missing Debian packages of those sections.
install_packages() {
  local wanted=() missing=() installed section package as_root=()
  for section in "$@"; do mapfile -t -O "${#wanted[@]}" wanted < <(packages "$section"); done
  # Without dpkg the installed packages are unknown; the configure step reports any that are missing.
  command -v dpkg-query >/dev/null || return 0
  installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${wanted[@]}" 2>/dev/null)
  for package in "${wanted[@]}"; do
    grep -qxF "ii  $package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local by_hand="apt-get install ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "some packages are missing and there is no sudo; as root run: $by_hand"
    as_root=(sudo)
  fi
  command -v apt-get >/dev/null || fail "some packages are missing and there is no apt-get: ${missing[*]}"
  say "installing ${missing[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  local log
  log=$(mktemp)
  # A fresh container has no package lists. If they cannot be downloaded, existing ones may be good enough.
  run_logged "$log" "${as_root[@]}" update
  run_logged "$log" "${as_root[@]}" install --no-install-recommends "${missing[@]}" ||
    fail "could not install the missing packages (see above); to do it by hand: $by_hand"
  rm -f "$log"
}

# preset_dir PRESET: the build folder of a preset, relative to $root. The options of all builds are in CMakePresets.json.
preset_dir() {
  local dir
  dir=$(sed -n '/"name": "'"$1"'"/,/}/s|.*"binaryDir": "${sourceDir}/\([^"]*\)".*|\1|p' "$root/CMakePresets.json")
  [[ $dir ]] || fail "CMakePresets.json has no preset $1 with a binaryDir"
  printf '%s\n' "$dir"
}

# mpi_appeared DIR: MPI's headers were installed after DIR was configured without them.
mpi_appeared() {
  [[ -e $1/build.ninja && ! -e $1/libshoal_mpi.so && ! -e $1/.with-mpi ]] && has_mpi
}
has_mpi() { command -v "${MPICXX:-mpicxx}" >/dev/null; }

# is_fresh DIR: DIR/shoal was built from the current sources, with MPI if it is installed.
is_fresh() {
  [[ -x $1/shoal && -e $1/.fresh ]] && ! mpi_appeared "$1" &&
    [[ -z $(find "$root/src" "$root/viewer" "$root/CMakeLists.txt" "$root/CMakePresets.json" -newer "$1/.fresh" -print -quit) ]]
}

# is_configured DIR [-DNAME=VALUE…]: DIR was configured with the current presets, and its cache has those values.
is_configured() {
  local dir=$1 option
  shift
  [[ -e $dir/build.ninja && -e $dir/.configured && ! $root/CMakePresets.json -nt $dir/.configured ]] || return
  ! mpi_appeared "$dir" || return
  for option in "${@#-D}"; do
    grep -qs "^${option%%=*}:[A-Z]*=${option#*=}\$" "$dir/CMakeCache.txt" || return
  done
}

# build PRESET TARGET [-DNAME=VALUE…]: builds TARGET in the preset's folder. The folder is configured first if it is new, if
# the presets have changed, or if its cache has other values; these override the preset's.
build() {
  local preset=$1 target=$2 dir
  shift 2
  dir=$root/$(preset_dir "$preset") || exit 2
  mkdir -p "$dir" || fail "cannot write to $dir"
  # If two ./shoal run in one pipe, both may find the build out of date. Then one builds and the other waits.
  (
    flock 9
    is_fresh "$dir" && [[ $target == shoal_cli ]] && exit 0
    if ! is_configured "$dir" "$@"; then
      say "configuring ${dir##*/}/"
      run_logged "$dir/configure.log" cmake -S "$root" --preset "$preset" "$@" ||
        fail "cmake could not configure ${dir##*/}/ (see above); if it is from another machine or compiler, remove it and try again"
      touch "$dir/.configured"
      if has_mpi; then touch "$dir/.with-mpi"; fi
    fi
    if [[ -e $dir/.fresh ]]; then
      say "building ${dir##*/}/"
    else
      say "building ${dir##*/}/ for the first time; this takes a few minutes"
    fi
    touch "$dir/.started"
    run_logged "$dir/build.log" ninja -C "$dir" "$target" ||
      fail "the build failed (see above); to see it again: ninja -C ${dir##*/} $target"
    mv "$dir/.started" "$dir/.fresh"
  ) 9>"$dir/.lock" || exit 2
}
