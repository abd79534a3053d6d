# Stores, moves and removes a token with a real Secret Service. Runs inside `dbus-run-session`.
# Arguments: the program under test, the keyring daemon, an empty folder for the home.
set -eu
wharf=$1 daemon=$2
HOME=$3 XDG_RUNTIME_DIR=$3/run
export HOME XDG_RUNTIME_DIR
mkdir -p "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
cd "$HOME"
stored=$HOME/.wharf/credentials.json

fail() { echo "FAILED  $1"; exit 1; }
in_file() { grep -q hunter-4711 "$stored"; }

printf password | "$daemon" --unlock --components=secrets > "$HOME/daemon.log" 2>&1 ||
  fail "the daemon does not start: $(cat "$HOME/daemon.log")"

"$wharf" config set credentials.store keychain
printf hunter-4711 | "$wharf" add web --scope user --no-probe --url https://web.example/mcp --token -
in_file && fail "the token is in the file"
"$wharf" credentials list --json | grep -q '"store": "keychain"' || fail "the store is not shown"
echo "ok      a new token is in the keychain only"

"$wharf" credentials move --to file web
in_file || fail "the token was not moved into the file"
"$wharf" credentials move --to keychain
in_file && fail "the token is still in the file"
echo "ok      a token is moved there and back"

printf hunter-4712 | "$wharf" add web --token -
grep -q hunter-4712 "$stored" && fail "a replaced token is in the file"
"$wharf" credentials move --to file
grep -q hunter-4712 "$stored" || fail "the replaced token is lost"
echo "ok      a replaced token stays in the keychain"

"$wharf" credentials move --to keychain
"$wharf" doctor --offline -v | grep -q 'keychain: the keychain of the system works' ||
  fail "doctor does not see the keychain"
echo "ok      doctor sees the keychain"
