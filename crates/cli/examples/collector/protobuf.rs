//! A minimal protobuf reader, independent of the code that writes the messages.

/// A message as its fields, in wire order.
pub(crate) struct Message<'a>(Vec<(u64, Value<'a>)>);

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Message<'a> {
    pub(crate) fn read(mut bytes: &'a [u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Value::Number(varint(&mut bytes)),
                1 => Value::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
                2 => {
                    let length = varint(&mut bytes);
                    Value::Bytes(take(&mut bytes, usize::try_from(length).unwrap()))
                }
                5 => {
                    let four = take(&mut bytes, 4).try_into().unwrap();
                    Value::Number(u32::from_le_bytes(four).into())
                }
                other => panic!("wire type {other}"),
            };
            fields.push((key >> 3, value));
        }
        Self(fields)
    }

    pub(crate) fn has(&self, field: u64) -> bool {
        self.0.iter().any(|(key, _)| *key == field)
    }

    pub(crate) fn number(&self, field: u64) -> u64 {
        let numbers = self.0.iter().filter(|(key, _)| *key == field);
        let mut numbers = numbers.filter_map(|(_, value)| match value {
            Value::Number(number) => Some(*number),
            Value::Bytes(_) => None,
        });
        numbers.next().unwrap_or_default()
    }

    pub(crate) fn bytes(&self, field: u64) -> &'a [u8] {
        self.all(field).next().unwrap_or_default()
    }

    pub(crate) fn text(&self, field: u64) -> String {
        String::from_utf8(self.bytes(field).to_vec()).unwrap()
    }

    pub(crate) fn messages(&self, field: u64) -> Vec<Self> {
        self.all(field).map(Self::read).collect()
    }

    fn all(&self, field: u64) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter_map(move |(key, value)| match value {
            Value::Bytes(bytes) if *key == field => Some(*bytes),
            _ => None,
        })
    }
}

/// Formats an id in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}
