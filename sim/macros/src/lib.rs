//! The attribute `#[interleaf::test]`.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, ItemFn, Lit, Meta, Token, parse_macro_input};

/// Runs a test under many schedules.
///
/// ```ignore
/// #[interleaf::test(executions = 10_000, strategy = "pct:3", max_steps = 50_000)]
/// fn two_workers_share_a_queue() { /* ... */ }
/// ```
///
/// | option | default | meaning |
/// |---|---|---|
/// | `executions` | 1,000 | number of seeds; for `dfs` the most schedules |
/// | `seed` | 0 | the first seed |
/// | `strategy` | `"portfolio"` | `portfolio`, `random`, `pct:D`, `pos`, `urw`, `surw`, `dfs`, `dfs:K` |
/// | `max_steps` | 200,000 | steps after which a run is cut as not finished |
/// | `budget` | none | real time after which the test ends with what was run, e.g. `"30s"`, `"500ms"`, `"2m"` |
/// | `spurious_wakeups`, `weak_cas_failures` | 0 | faults that a run may contain |
///
/// A failing test prints the failure block with a replay token; with `INTERLEAF_REPLAY=<token>` in the environment the
/// test runs that schedule alone. `INTERLEAF_EXECUTIONS` overrides the number of executions.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    match expand(arguments, &function) {
        Ok(tokens) => tokens,
        Err(error) => error.to_compile_error().into(),
    }
}

fn expand(arguments: TokenStream, function: &ItemFn) -> syn::Result<TokenStream> {
    let signature = &function.sig;
    if !signature.inputs.is_empty() || signature.asyncness.is_some() {
        return Err(syn::Error::new_spanned(signature, "a simulated test is a plain function without arguments"));
    }
    let options = Punctuated::<Meta, Token![,]>::parse_terminated.parse(arguments)?;
    let mut seed = quote!(0u64);
    let mut executions = quote!(1_000u64);
    let mut calls = Vec::new();
    let (mut spurious, mut weak) = (quote!(0), quote!(0));
    for option in &options {
        let Meta::NameValue(pair) = option else {
            return Err(syn::Error::new_spanned(option, "expected `option = value`"));
        };
        let value = &pair.value;
        match pair.path.get_ident().map(ToString::to_string).as_deref() {
            Some("executions") => executions = quote!((#value) as u64),
            Some("seed") => seed = quote!((#value) as u64),
            Some("max_steps") => calls.push(quote!(.max_steps(#value))),
            Some("spurious_wakeups") => spurious = quote!(#value),
            Some("weak_cas_failures") => weak = quote!(#value),
            Some("budget") => {
                let milliseconds = budget(value)?;
                calls.push(quote!(.budget(::core::time::Duration::from_millis(#milliseconds))));
            }
            Some("strategy") => {
                let Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) = value else {
                    return Err(syn::Error::new_spanned(value, "expected a string such as \"pct:3\""));
                };
                check_strategy(name)?;
                calls.push(quote!(.strategy(match #name.parse() {
                    Ok(strategy) => strategy,
                    Err(error) => panic!("{error}"),
                })));
            }
            _ => {
                return Err(syn::Error::new_spanned(
                    &pair.path,
                    "unknown option: expected executions, seed, strategy, max_steps, budget, spurious_wakeups or weak_cas_failures",
                ));
            }
        }
    }
    let (attributes, visibility, name, output, block) =
        (&function.attrs, &function.vis, &signature.ident, &signature.output, &function.block);
    Ok(quote! {
        #[::core::prelude::v1::test]
        #(#attributes)*
        #visibility fn #name() {
            fn body() #output #block
            let first: u64 = #seed;
            let explorer = ::interleaf::Explorer::new()
                .name(concat!(module_path!(), "::", stringify!(#name)))
                .seeds(first..first.saturating_add(#executions))
                .faults(::interleaf::Faults { spurious_wakeups: #spurious, weak_cas_failures: #weak })
                #(#calls)*;
            ::interleaf::run_test(&explorer, || ::interleaf::TestResult::finish(body()));
        }
    }
    .into())
}

/// A duration such as `"30s"`, in milliseconds.
fn budget(value: &Expr) -> syn::Result<u64> {
    let wrong = || syn::Error::new_spanned(value, "expected a time such as \"30s\", \"500ms\" or \"2m\"");
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value else { return Err(wrong()) };
    let text = text.value();
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(unit).ok_or_else(wrong)
}

fn check_strategy(name: &syn::LitStr) -> syn::Result<()> {
    let text = name.value();
    if text.strip_prefix("exhaustive:0..").is_some_and(|k| k.parse::<u32>().is_ok()) {
        return Ok(());
    }
    let (kind, argument) = match text.split_once(':') {
        Some((kind, argument)) => (kind, Some(argument.parse::<u32>())),
        None => (text.as_str(), None),
    };
    match (kind, argument) {
        ("portfolio" | "random" | "pct" | "pos" | "urw" | "surw" | "dfs" | "exhaustive", None)
        | ("dfs" | "exhaustive" | "delay", Some(Ok(_)))
        | ("pct", Some(Ok(1..=100))) => Ok(()),
        _ => Err(syn::Error::new_spanned(
            name,
            "unknown strategy: expected portfolio, random, pct:D (D from 1 to 100), pos, urw, surw, dfs, dfs:K, exhaustive, \
             exhaustive:K, exhaustive:0..K or delay:D",
        )),
    }
}
