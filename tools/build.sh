# What ./shoal, ./test and tools/lint share: installing packages and building. Sourced by bash with $root set to the
# top of the checkout. Everything said here goes to stderr.

say() { printf 'shoal: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

# packages SECTION: the names in that section of tools/packages.
packages() {
  local section='' line
  while read -r line; do
    case $line in
      '# build' | '# mpi' | '# test' | '# develop') section=${line#'# '} ;;
      '' | '#'*) ;;
      *) [[ $section == "$1" ]] && printf '%s\n' "$line" ;;
    esac
  done <"$root/tools/packages"
}

# run_logged LOG COMMAND…: shows the command's output on a terminal; else keeps it in LOG and shows it on failure.
# Standard input is left alone: it may be the module that ./shoal is to read.
run_logged() {
  local log=$1
  shift
  if [[ -t 2 ]]; then
    "$@" </dev/null >&2
  else
    "$@" </dev/null >"$log" 2>&1 || { tail -n 60 "$log" >&2; return 1; }
  fi
}

# install_packages SECTION…: installs from Debian what those sections list and the machine lacks.
install_packages() {
  local wanted=() missing=() installed section package as_root=()
  for section in "$@"; do mapfile -t -O "${#wanted[@]}" wanted < <(packages "$section"); done
  # Without dpkg nobody knows what is there; the configure step will name what it does not find.
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
  # The list of packages may be absent, as in a fresh container. If it cannot be had, an old one may still do.
  run_logged "$log" "${as_root[@]}" update
  run_logged "$log" "${as_root[@]}" install --no-install-recommends "${missing[@]}" ||
    fail "could not install what is missing (see above); to do it by hand: $by_hand"
  rm -f "$log"
}

# is_fresh DIR: DIR/shoal was built from the sources as they are now.
is_fresh() {
  [[ -x $1/shoal && -e $1/.fresh ]] &&
    [[ -z $(find "$root/src" "$root/viewer" "$root/CMakeLists.txt" -newer "$1/.fresh" -print -quit) ]]
}

# build DIR TARGET [CMAKE-OPTION…]: configures DIR if it is new or options are given, and builds TARGET in it.
build() {
  local dir=$1 target=$2
  shift 2
  mkdir -p "$dir" || fail "cannot write to $dir"
  # In a pipe of two ./shoal both may find that there is work to do: one does it, the other waits.
  (
    flock 9
    is_fresh "$dir" && [[ $target == shoal_cli ]] && exit 0
    if [[ ! -e $dir/build.ninja ]] || (($#)); then
      say "configuring ${dir##*/}/"
      run_logged "$dir/configure.log" cmake -S "$root" -B "$dir" -G Ninja "$@" ||
        fail "cmake could not configure ${dir##*/}/ (see above); if it is from another machine or compiler, remove it and try again"
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
